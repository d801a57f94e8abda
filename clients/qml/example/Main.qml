import QtQuick
import QtQuick.Shapes

Window {
    id: root

    required property list<string> urls

    width: 720
    height: 560
    visible: true
    color: "#222"
    title: "Images of the cache"

    GridView {
        anchors.fill: parent
        cellWidth: 144
        cellHeight: 144
        focus: true
        model: root.urls
        delegate: Item {
            required property string modelData

            width: 140
            height: 140

            Image {
                id: picture
                anchors.fill: parent
                source: parent.modelData
                sourceSize: Qt.size(140, 140)
                fillMode: Image.PreserveAspectCrop
                opacity: status === Image.Ready ? 1 : 0
                Behavior on opacity { NumberAnimation { duration: 200 } }
            }
            Shape { // The ring. It turns while nothing is known of the length.
                id: ring
                visible: picture.status === Image.Loading
                anchors.centerIn: parent
                width: 40
                height: 40
                RotationAnimator on rotation {
                    running: ring.visible && picture.progress <= 0
                    from: 0; to: 360; duration: 1200; loops: Animation.Infinite
                }
                ShapePath {
                    strokeWidth: 5
                    strokeColor: "#3584e4"
                    fillColor: "transparent"
                    capStyle: ShapePath.RoundCap
                    PathAngleArc {
                        centerX: 20; centerY: 20; radiusX: 17; radiusY: 17; startAngle: -90
                        sweepAngle: 360 * Math.max(0.05, picture.progress)
                    }
                }
            }
            Text {
                visible: picture.status === Image.Error
                anchors.centerIn: parent
                color: "#f66"
                text: qsTr("no image")
            }
        }
    }
}
